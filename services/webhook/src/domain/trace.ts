const traceparentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The `traceparent` of one attempt: the trace of the work that is reported, with a span of its own. Work that was not
 * traced gets a trace named after its delivery, so that all attempts of it can be found together.
 */
export function traceparentOfAttempt(caused: string | null, deliveryId: string, spanId: string): string {
  const match = traceparentForm.exec(caused ?? "");
  return match ? `00-${match[1]}-${spanId}-${match[3]}` : `00-${deliveryId.replaceAll("-", "")}-${spanId}-00`;
}
