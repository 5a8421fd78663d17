import type { Bank, WriteBankRequest } from "@memory-bank/proto/bank/v1/bank";
import type { BankActivity } from "@memory-bank/proto/memory/v1/memory";
import { instantText, instantTextOrNull } from "../instant-text.ts";
import type { BankBody } from "./schemas.ts";

/** The mission goes by three names, the newest first; single traits win over the object that holds all three. */
export function writeBankToProto(bankId: string, body: BankBody): WriteBankRequest {
  const { name, mission, reflect_mission, background, disposition, ...overrides } = body;
  const chosenMission = reflect_mission ?? mission ?? background;
  return {
    bankId,
    ...(name !== undefined && { name }),
    ...(chosenMission !== undefined && { mission: chosenMission }),
    overrides: given({
      ...overrides,
      disposition_skepticism: overrides.disposition_skepticism ?? disposition?.skepticism,
      disposition_literalism: overrides.disposition_literalism ?? disposition?.literalism,
      disposition_empathy: overrides.disposition_empathy ?? disposition?.empathy,
    }),
  };
}

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

export function bankProfileFromProto({ bankId, name, mission, disposition }: Bank) {
  return { bank_id: bankId, name, mission, disposition: traitsFromProto(disposition), background: mission };
}

export function bankListItemFromProto(bank: Bank, activity: BankActivity | undefined) {
  return {
    bank_id: bank.bankId,
    name: bank.name,
    disposition: traitsFromProto(bank.disposition),
    mission: bank.mission,
    created_at: instantText(bank.createdAtUs),
    updated_at: instantText(bank.updatedAtUs),
    fact_count: activity?.factCount ?? 0,
    last_document_at: instantTextOrNull(activity?.lastDocumentAtUs),
    last_write_at: instantTextOrNull(activity?.lastWriteAtUs),
  };
}

const neutral = { skepticism: 3, literalism: 3, empathy: 3 };

export function traitsFromProto(disposition: Bank["disposition"]) {
  return disposition ?? neutral;
}
