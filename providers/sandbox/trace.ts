/** What the outbound client says about its request: `X-Oncepost-Trace: <operation id>;<step>;<attempt>`. */
export interface Trace {
  operationId: string | null;
  step: string | null;
  attempt: number | null;
}

const TRACE = /^(op_[0-9a-f]{32});([a-z0-9_]{1,64})(?:;([0-9]{1,6}))?$/;

export function readTrace(header: string | string[] | undefined): Trace {
  const match = typeof header === 'string' ? TRACE.exec(header) : null;
  if (match === null) return { operationId: null, step: null, attempt: null };
  return { operationId: match[1]!, step: match[2]!, attempt: match[3] === undefined ? null : Number(match[3]) };
}
