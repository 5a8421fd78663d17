import { AppError } from "@memory-bank/errors";
import type { ListOperationsRequest, Operation } from "@memory-bank/proto/common/v1/common";
import { describe, expect, test } from "vitest";
import { failing, fakeClient } from "../../test-clients.ts";
import { asOwner, testGateway } from "../../test-gateway.ts";
import type { OperationOwners } from "./merged-operations.ts";
import { operationRoutes } from "./routes.ts";

const operationId = "5f0c7a9e-9f63-4b5b-b6b6-2f6d5d0c7e11";
const operationOf = (id: string, createdAtUs: number, parts: Partial<Operation> = {}): Operation => ({
  id,
  type: "retain",
  status: "pending",
  itemsCount: 1,
  createdAtUs,
  updatedAtUs: createdAtUs,
  retryCount: 0,
  children: [],
  ...parts,
});

type Answers = Partial<Record<keyof OperationOwners["memory"], unknown>>;

async function gatewayWith(answers: { memory?: Answers; reflect?: Answers }) {
  const memory = fakeClient<OperationOwners["memory"]>(answers.memory ?? {});
  const reflect = fakeClient<OperationOwners["reflect"]>(answers.reflect ?? {});
  const gateway = await testGateway((app) => operationRoutes(app, { memory: memory.client, reflect: reflect.client }));
  const send = (method: "GET" | "POST" | "DELETE", path: string) =>
    gateway.app.inject({ method, url: `/v1/default/banks/one/operations${path}`, headers: asOwner });
  return { ...gateway, send, ofMemory: memory.calls, ofReflect: reflect.calls };
}

/** An owner that pages like the real ones, newest first. */
const listing =
  (operations: readonly Operation[]) =>
  ({ limit, offset }: ListOperationsRequest) => {
    if (limit < 1) throw new AppError("invalid_argument", "INVALID_JOB", "a page holds at least one");
    return { operations: operations.slice(offset, offset + limit), total: operations.length };
  };

describe("the list of operations", () => {
  test("merges both owners, newest first, ties by descending id", async () => {
    await using gateway = await gatewayWith({
      memory: { listOperations: listing([operationOf("d", 9), operationOf("b", 5), operationOf("a", 1)]) },
      reflect: { listOperations: listing([operationOf("c", 5), operationOf("e", 2)]) },
    });
    const idsOf = async (query: string) =>
      (await gateway.send("GET", query)).json().operations.map(({ id }: { id: string }) => id);
    expect(await idsOf("")).toEqual(["d", "c", "b", "e", "a"]);
    expect(await idsOf("?limit=2&offset=1")).toEqual(["c", "b"]);
    expect(await idsOf("?limit=2&offset=9")).toEqual([]);
    expect((await gateway.send("GET", "?limit=2")).json()).toMatchObject({ bank_id: "one", total: 5, limit: 2, offset: 0 });
  });

  test("reads deep pages in bounded steps", async () => {
    const many = Array.from({ length: 1200 }, (_, index) => operationOf(`m${index}`, 10_000 - index));
    await using gateway = await gatewayWith({
      memory: { listOperations: listing(many) },
      reflect: { listOperations: listing([operationOf("newest", 99_999)]) },
    });
    const { operations, total } = (await gateway.send("GET", "?limit=3&offset=1100")).json();
    expect(operations.map(({ id }: { id: string }) => id)).toEqual(["m1099", "m1100", "m1101"]);
    expect(total).toBe(1201);
    expect(Math.max(...gateway.ofMemory.map(([, request]) => request.limit))).toBeLessThanOrEqual(500);
  });

  test("sends its filters and shows every member", async () => {
    const operation = operationOf("a", 1, {
      mentalModelId: "m",
      details: { outcome: "content_written" },
      progress: { stage: "writing", atUs: 2, processed: 1, total: 3 },
      retryCount: 1,
      nextRetryAtUs: 4,
      errorMessage: "no",
    });
    await using gateway = await gatewayWith({
      memory: { listOperations: listing([]) },
      reflect: { listOperations: listing([operation]) },
    });
    const answer = await gateway.send("GET", "?status=pending&type=retain&exclude_parents=true");
    expect(gateway.ofMemory[0]![1]).toMatchObject({ status: "pending", type: "retain", excludeParents: true });
    expect(answer.json().operations).toEqual([
      {
        id: "a",
        task_type: "retain",
        items_count: 1,
        document_id: null,
        filename: null,
        mental_model_id: "m",
        details: { outcome: "content_written" },
        created_at: "1970-01-01T00:00:00.000001Z",
        updated_at: "1970-01-01T00:00:00.000001Z",
        status: "pending",
        error_message: "no",
        retry_count: 1,
        next_retry_at: "1970-01-01T00:00:00.000004Z",
        progress: { stage: "writing", at: "1970-01-01T00:00:00.000002Z", processed: 1, total: 3 },
      },
    ]);
  });

  test.each(["limit=0", "limit=101", "offset=-1"])("%s is 422", async (query) => {
    await using gateway = await gatewayWith({});
    expect((await gateway.send("GET", `?${query}`)).statusCode).toBe(422);
  });
});

const unknown = failing("not_found", "OPERATION_NOT_FOUND", `Operation ${operationId} not found for bank one`);

describe("one operation", () => {
  test("joins what it was asked to do with what it did, and lists the children of a parent", async () => {
    const parent = operationOf(operationId, 1, {
      type: "batch_retain",
      status: "completed",
      completedAtUs: 9,
      details: { items_count: 2, is_parent: true },
      result: { total_tokens: 310 },
      children: [{ operationId: "c", status: "completed", subBatchIndex: 0, itemsCount: 2 }],
      payload: { bank_id: "one" },
    });
    await using gateway = await gatewayWith({ memory: { getOperation: parent } });
    const answer = (await gateway.send("GET", `/${operationId}?include_payload=true`)).json();
    expect(gateway.ofMemory[0]![1]).toEqual({ bankId: "one", operationId, includePayload: true });
    expect(answer).toMatchObject({
      operation_id: operationId,
      status: "completed",
      operation_type: "batch_retain",
      completed_at: "1970-01-01T00:00:00.000009Z",
      result_metadata: { items_count: 2, is_parent: true, total_tokens: 310 },
      child_operations: [{ operation_id: "c", status: "completed", sub_batch_index: 0, items_count: 2, error_message: null }],
      task_payload: { bank_id: "one" },
    });
  });

  test("may be reflect's", async () => {
    await using gateway = await gatewayWith({
      memory: { getOperation: unknown },
      reflect: { getOperation: operationOf(operationId, 1, { type: "refresh_mental_model" }) },
    });
    expect((await gateway.send("GET", `/${operationId}`)).json()).toMatchObject({
      operation_type: "refresh_mental_model",
      child_operations: null,
    });
  });

  test("that nobody knows is answered with 200 and says so", async () => {
    await using gateway = await gatewayWith({ memory: { getOperation: unknown }, reflect: { getOperation: unknown } });
    const response = await gateway.send("GET", `/${operationId.toUpperCase()}`);
    expect([response.statusCode, response.json()]).toMatchObject([200, { operation_id: operationId, status: "not_found" }]);
  });

  test("is not called unknown when its owner could not be asked", async () => {
    await using gateway = await gatewayWith({
      memory: { getOperation: failing("unavailable", "DOWN", "no connection") },
      reflect: { getOperation: unknown },
    });
    expect((await gateway.send("GET", `/${operationId}`)).statusCode).toBe(503);
  });
});

describe("changing an operation", () => {
  const changes = [
    ["DELETE", "", "cancelOperation", "cancelled"],
    ["POST", "/retry", "retryOperation", "queued for retry"],
    ["DELETE", "/delete", "deleteOperation", "deleted"],
  ] as const;

  test.each(changes)("%s …/{operation_id}%s asks the owner that has it", async (method, path, rpc, done) => {
    await using gateway = await gatewayWith({ memory: { [rpc]: unknown }, reflect: { [rpc]: {} } });
    expect((await gateway.send(method, `/${operationId}${path}`)).json()).toEqual({
      success: true,
      message: `Operation ${operationId} ${done}`,
      operation_id: operationId,
    });
    expect(gateway.ofReflect).toEqual([[rpc, { bankId: "one", operationId, includePayload: false }]]);
  });

  test.each(changes)("%s …/{operation_id}%s fails with the service's words", async (method, path, rpc) => {
    await using gateway = await gatewayWith({ memory: { [rpc]: unknown }, reflect: { [rpc]: unknown } });
    const response = await gateway.send(method, `/${operationId}${path}`);
    expect([response.statusCode, response.json().detail]).toEqual([404, `Operation ${operationId} not found for bank one`]);
    const bad = await gateway.send(method, `/op-1${path}`);
    expect([bad.statusCode, bad.json().detail]).toEqual([400, "Invalid operation_id format: op-1"]);
    await using refusing = await gatewayWith({
      memory: { [rpc]: failing("failed_precondition", "JOB_NOT_PENDING", "is running") },
    });
    const refused = await refusing.send(method, `/${operationId}${path}`);
    expect([refused.statusCode, refused.json().detail]).toEqual([
      409,
      `Operation ${operationId} cannot be cancelled: it is not pending`,
    ]);
    expect(refusing.ofReflect).toEqual([]);
  });
});
