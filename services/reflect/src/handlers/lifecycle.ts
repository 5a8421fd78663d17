import type { ReflectInternalServiceService } from "@memory-bank/proto/reflect/v1/reflect";
import type { Rpc } from "@memory-bank/rpc";
import type { ReflectDeps } from "../reflect-deps.ts";

/** The end of a bank. */
export const internalHandlers = ({ store, jobs }: ReflectDeps): Rpc<typeof ReflectInternalServiceService> => ({
  async fence(_, { bankUid }) {
    const hiddenCount = await store.fence(bankUid);
    await jobs.cancelGroup(bankUid);
    return { hiddenCount };
  },

  async purge(_, { bankUid }) {
    await store.fence(bankUid);
    if (!(await store.purge(bankUid))) return { done: false };
    await jobs.purgeGroup(bankUid);
    return { done: true };
  },
});
