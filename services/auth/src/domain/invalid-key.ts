import { AppError } from "@memory-bank/errors";

/** The one answer for every bad key: missing, malformed, unknown, wrong secret, expired, revoked. Gateways match its reason. */
export const invalidKey = () => new AppError("unauthenticated", "KEY_REFUSED", "Authentication failed: Invalid API key");
