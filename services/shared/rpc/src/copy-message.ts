/**
 * Copies a message so that caller and handler share no object, as a wire would. Messages are plain data: scalars, bytes,
 * arrays and objects. Members that are undefined are left out, as the wire leaves them out.
 */
export function copyMessage<T>(message: T): T {
  return copy(message) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (value instanceof Uint8Array) return Uint8Array.prototype.slice.call(value);
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    // A plain assignment of `__proto__` would set the prototype instead of a member.
    if (key === "__proto__")
      Object.defineProperty(copied, key, { value: copy(member), enumerable: true, writable: true, configurable: true });
    else copied[key] = copy(member);
  }
  return copied;
}
