import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Row, SqliteTx, SqlParams } from "./sqlite-database.ts";

const STATEMENTS_MAX = 256; // several times what one service has; bounds texts that a caller builds

/** Statements over one connection, prepared once and kept by their text; the one unused for longest goes first. */
export function createSqliteTx(connection: DatabaseSync): SqliteTx {
  const statements = new Map<string, StatementSync>();

  function prepared(sql: string): StatementSync {
    const found = statements.get(sql);
    if (found) {
      statements.delete(sql);
      statements.set(sql, found);
      return found;
    }
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    if (statements.size > STATEMENTS_MAX) {
      for (const oldest of statements.keys()) {
        statements.delete(oldest);
        break;
      }
    }
    return statement;
  }

  return {
    all: <R extends Row>(sql: string, params: SqlParams = []) => prepared(sql).all(...bound(params)) as R[],
    get: <R extends Row>(sql: string, params: SqlParams = []) => prepared(sql).get(...bound(params)) as R | undefined,
    run(sql, params = []) {
      const { changes, lastInsertRowid } = prepared(sql).run(...bound(params));
      return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
    },
    // Of its own, because the same text used again during the scan would start a shared statement anew.
    iterate: <R extends Row>(sql: string, params: SqlParams = []) =>
      connection.prepare(sql).iterate(...bound(params)) as IterableIterator<R>,
  };
}

// Node takes values by position as arguments and values by name as one object; its types know no union of the two.
function bound(params: SqlParams): SQLInputValue[] {
  return (Array.isArray(params) ? params : [params]) as SQLInputValue[];
}
