import type { AllowList } from "./allow-list.ts";
import { checkedDestination } from "./destination-url.ts";
import { checkedHttpConfig, defaultHttpConfig } from "./http-config.ts";
import { checkedSecret, retire } from "./secret.ts";
import type { HttpConfig, Target } from "./webhook.ts";

/** Members of a target as a caller gives them. Absent: the default, or unchanged. */
export interface TargetChange {
  readonly url?: string;
  /** `null` clears it. */
  readonly secret?: string | null;
  readonly httpConfig?: HttpConfig;
}

export function newTarget(given: TargetChange & { readonly url: string }, allowList: AllowList): Target {
  return {
    url: checkedDestination(given.url, allowList),
    secret: given.secret == null ? null : checkedSecret(given.secret),
    retiredSecrets: [],
    httpConfig: checkedHttpConfig(given.httpConfig ?? defaultHttpConfig),
  };
}

/** The target after a change; a secret that is replaced goes on signing for a day beside the new one. */
export function changedTarget(target: Target, change: TargetChange, allowList: AllowList, nowUs: number): Target {
  const secret = change.secret === undefined ? target.secret : change.secret === null ? null : checkedSecret(change.secret);
  return {
    url: change.url === undefined ? target.url : checkedDestination(change.url, allowList),
    secret,
    retiredSecrets: retire(target.retiredSecrets, target.secret, secret, nowUs),
    httpConfig: change.httpConfig === undefined ? target.httpConfig : checkedHttpConfig(change.httpConfig),
  };
}

/** True when a change touches the target at all; changes of anything else must not make a new snapshot. */
export function touchesTarget(change: TargetChange): boolean {
  return change.url !== undefined || change.secret !== undefined || change.httpConfig !== undefined;
}
