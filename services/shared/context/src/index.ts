import { AppError } from "@memory-bank/errors";

export type Role = "owner" | "admin" | "member";

/** Who is calling. Made by auth from a verified key; the tenant comes from here and never from a path. */
export interface Principal {
  readonly tenantId: string;
  readonly keyId: string;
  readonly role: Role;
  readonly capabilities: readonly string[];
  /** `null` means every bank of the tenant. */
  readonly allowedBankIds: readonly string[] | null;
}

/** Where a call entered the system. `http`: through the gateway; `system`: direct gRPC, or work of the service's own. */
export type Transport = "http" | "system";

/** What every handler gets beside its request. Travels with the call as metadata. */
export interface CallContext {
  /** Absent only for calls that the mesh makes for itself (jobs, purges, key verification). */
  readonly principal?: Principal;
  readonly requestId: string;
  readonly transport: Transport;
  /** Wall-clock milliseconds after which nobody waits for the answer any more. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** W3C trace context, when the caller is traced. */
  readonly traceparent?: string;
}

const neverAborted = new AbortController().signal;

/** A context for work that no request caused: jobs, sweeps, start-up. */
export function systemContext(requestId: string, deadlineMs: number, signal: AbortSignal = neverAborted): CallContext {
  return { requestId, transport: "system", deadlineMs, signal };
}

/** The caller, or `unauthenticated` for a call that carries none. */
export function requirePrincipal(ctx: CallContext): Principal {
  if (!ctx.principal) throw new AppError("unauthenticated", "NO_PRINCIPAL", "Authentication failed: Invalid API key");
  return ctx.principal;
}

/** True when the key may touch the bank. Ids compare byte for byte. */
export function mayAccessBank(principal: Principal, bankId: string): boolean {
  return principal.allowedBankIds === null || principal.allowedBankIds.includes(bankId);
}

/** The caller, or `permission_denied` when its key is restricted to other banks. */
export function requireBankScope(ctx: CallContext, bankId: string): Principal {
  const principal = requirePrincipal(ctx);
  if (!mayAccessBank(principal, bankId)) {
    throw new AppError("permission_denied", "BANK_OUT_OF_SCOPE", `API key is not allowed to access bank '${bankId}'`);
  }
  return principal;
}

/** Throws `cancelled` or `deadline_exceeded` when nobody waits for the answer any more. */
export function requireAwaited(ctx: CallContext, nowMs: number): void {
  if (ctx.signal.aborted) throw new AppError("cancelled", "CALLER_GONE", "The caller went away");
  if (nowMs >= ctx.deadlineMs) throw new AppError("deadline_exceeded", "DEADLINE_EXCEEDED", "The call ran past its deadline");
}
