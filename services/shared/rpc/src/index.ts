export { bearerKey } from "./call-metadata.ts";
export { type ConnectOptions, connect, type Peer } from "./connect.ts";
export { createInProcessMesh, type InProcessMesh } from "./in-process-mesh.ts";
export { type Implementation, implement, type Rpc, type Service, type ServiceDefinition } from "./rpc.ts";
export { type RpcServer, type ServedCall, type ServeOptions, serve, type TlsFiles } from "./serve.ts";
