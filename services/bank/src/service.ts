import type { EventBus } from "@memory-bank/events";
import { createJobRunner } from "@memory-bank/jobs";
import type { Timers } from "@memory-bank/lifecycle";
import { BankInternalServiceService, BankServiceService } from "@memory-bank/proto/bank/v1/bank";
import { implement, type Service } from "@memory-bank/rpc";
import type { Logger } from "@memory-bank/telemetry";
import type { BankStorage } from "./bank-store.ts";
import type { BankOwners, HandlerDeps } from "./deps.ts";
import type { AuditEntry } from "./domain/audit.ts";
import { completeReadOnlyValues, type ReadOnlyValues } from "./domain/bank-config.ts";
import { type ConfigFile, emptyConfigFile } from "./domain/config-file.ts";
import { auditRecorded } from "./events.ts";
import { createGetAuditStatsHandler, createListAuditEntriesHandler, createRecordAuditHandler } from "./handlers/audit.ts";
import {
  createGetBankConfigHandler,
  createPatchBankConfigHandler,
  createResetBankConfigHandler,
} from "./handlers/bank-config.ts";
import { createGetBankHandler, createListBanksHandler, createPatchBankHandler, createPutBankHandler } from "./handlers/banks.ts";
import { createDeleteBankHandler } from "./handlers/delete-bank.ts";
import {
  createCreateDirectiveHandler,
  createDeleteDirectiveHandler,
  createGetDirectiveHandler,
  createListDirectivesHandler,
  createUpdateDirectiveHandler,
} from "./handlers/directives.ts";
import { createBeginIdempotentHandler, createFinishIdempotentHandler } from "./handlers/idempotency.ts";
import { createResolveBankHandler, createSetTenantConfigHandler } from "./handlers/internal.ts";
import { createPurgeHandler, PURGE_KIND } from "./purge.ts";
import { recordAudit } from "./record-audit.ts";
import { createSweep } from "./sweep.ts";

export interface BankServiceDeps {
  readonly storage: BankStorage;
  /** Clients of the services that keep data of banks. */
  readonly owners: BankOwners;
  readonly bus: EventBus;
  readonly log: Logger;
  /** Wall-clock microseconds. */
  readonly nowUs: () => number;
  readonly newId: () => string;
  /** Values of the read-only configuration keys; those left out have their defaults. */
  readonly providers?: ReadOnlyValues;
  /** The global and tenant layers that the operator wrote down. A tenant's layer that was set by RPC takes the place of its own. */
  readonly configFile?: ConfigFile;
  /** Days that audit entries are kept; negative, and by default, for ever. */
  readonly auditRetentionDays?: number;
  readonly timers?: Timers;
}

/** Banks, their configuration, directives and audit log. */
export function createBankService(deps: BankServiceDeps): Service {
  const { storage, owners, bus, log, nowUs, newId, timers, configFile = emptyConfigFile } = deps;
  const relay = storage.createRelay({ bus, log });
  const runner = createJobRunner({
    store: storage.jobs,
    handlers: { [PURGE_KIND]: createPurgeHandler({ storage, owners, log, nowUs, newId }) },
    now: nowUs,
    log,
    owner: `bank-${newId()}`,
    ...(timers ? { timers } : {}),
  });
  const sweep = createSweep({ storage, auditRetentionDays: deps.auditRetentionDays ?? -1, nowUs, log, timers });
  const handlerDeps: HandlerDeps = {
    storage,
    owners,
    upperLayers: async (tenantId) => ({
      global: configFile.global,
      tenant: (await storage.banks.findTenantConfig(tenantId)) ?? configFile.tenants.get(tenantId) ?? {},
    }),
    readOnlyValues: completeReadOnlyValues(deps.providers ?? {}),
    nudge() {
      runner.nudge();
      relay.nudge();
    },
    log,
    nowUs,
    newId,
  };
  let subscription: AsyncDisposable | undefined;

  return {
    name: "bank",
    implementations: implementations(handlerDeps),
    async start() {
      // The subscriber first: an event that nobody listens to is done at once.
      subscription = await bus.subscribe({
        subject: auditRecorded.subject,
        durable: "bank",
        handler: (event) => recordAudit(handlerDeps, auditRecorded.payloadOf(event).entries as readonly AuditEntry[]),
      });
      relay.start();
      runner.start();
      sweep.start();
    },
    async stop() {
      await sweep.stop();
      await subscription?.[Symbol.asyncDispose]();
      await runner.stop();
      await relay[Symbol.asyncDispose]();
    },
    ready: () => storage.ping(),
  };
}

function implementations(deps: HandlerDeps) {
  return [
    implement(BankServiceService, {
      putBank: createPutBankHandler(deps),
      patchBank: createPatchBankHandler(deps),
      getBank: createGetBankHandler(deps),
      listBanks: createListBanksHandler(deps),
      deleteBank: createDeleteBankHandler(deps),
      getBankConfig: createGetBankConfigHandler(deps),
      patchBankConfig: createPatchBankConfigHandler(deps),
      resetBankConfig: createResetBankConfigHandler(deps),
      createDirective: createCreateDirectiveHandler(deps),
      getDirective: createGetDirectiveHandler(deps),
      updateDirective: createUpdateDirectiveHandler(deps),
      listDirectives: createListDirectivesHandler(deps),
      deleteDirective: createDeleteDirectiveHandler(deps),
      listAuditEntries: createListAuditEntriesHandler(deps),
      getAuditStats: createGetAuditStatsHandler(deps),
    }),
    implement(BankInternalServiceService, {
      resolveBank: createResolveBankHandler(deps),
      recordAudit: createRecordAuditHandler(deps),
      setTenantConfig: createSetTenantConfigHandler(deps),
      beginIdempotent: createBeginIdempotentHandler(deps),
      finishIdempotent: createFinishIdempotentHandler(deps),
    }),
  ];
}
