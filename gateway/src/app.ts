import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { Logger } from "@memory-bank/telemetry";
import createFastify, { type FastifyInstance } from "fastify";
import { registerAuthenticate, type VerifyKey } from "./plugins/authenticate.ts";
import { registerCompress } from "./plugins/compress.ts";
import { answerClientError, answerFrameworkError, registerErrorBody } from "./plugins/error-body.ts";
import { BODY_BYTES_MAX, registerJsonBody } from "./plugins/json-body.ts";
import { registerOpenApi } from "./plugins/openapi.ts";
import { registerRequestId, requestIdOf } from "./plugins/request-id.ts";
import { registerUnknownRoute } from "./plugins/unknown-route.ts";
import type { RouteDeps } from "./route.ts";
import { parseQuery } from "./validation/read-request.ts";

export interface GatewayDeps extends RouteDeps {
  readonly verifyKey: VerifyKey;
  readonly log: Logger;
  readonly newId: () => string;
  /** Of the product, for the API description. */
  readonly version: string;
  readonly bodyBytesMax?: number;
  /** Origins whose pages may call the API; none unless given. */
  readonly corsOrigins?: readonly string[];
  /** Adds the operations, each with `route`. */
  readonly routes: (app: FastifyInstance) => void;
}

// A parameter cannot be longer than the request line, which Node bounds at 16 KiB together with the headers. The router's
// own bound would answer 414 where the contract has a fault of the parameter.
const PARAM_LENGTH_MAX = 16 * 1024;

/** The REST API, ready to listen. The order below is the order in which a request meets the checks. */
export async function createGateway(deps: GatewayDeps): Promise<FastifyInstance> {
  const app = createFastify({
    bodyLimit: deps.bodyBytesMax ?? BODY_BYTES_MAX,
    genReqId: (request) => requestIdOf(request, deps.newId),
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX, querystringParser: parseQuery },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerClientError,
  });
  app.decorate("routeDeps", deps);
  registerErrorBody(app, deps);
  registerRequestId(app);
  if (deps.corsOrigins?.length) await app.register(cors, corsOptions(deps.corsOrigins));
  registerUnknownRoute(app);
  registerAuthenticate(app, deps);
  registerJsonBody(app);
  registerCompress(app);
  registerOpenApi(app, deps);
  deps.routes(app);
  return app;
}

function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: [...origins],
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: ["X-Request-Id", "X-Ignored-Params", "Retry-After"],
    // Otherwise an OPTIONS that is no preflight gets a body that is not ours.
    strictPreflight: false,
  };
}
