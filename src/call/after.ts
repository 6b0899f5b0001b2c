type Step<Value, Own, Next> = (value: Value, own: Own) => Next | Promise<Next>

/**
 * Goes on with a value: at once where it is there, later where it is promised. Each promise costs a call more than most of its work.
 * `own` is what `next` needs besides: handed on like this, it can be the same function for every call.
 */
export function after<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next>
export function after<Value, Own, Next>(
  value: Value | Promise<Value>,
  next: Step<Value, Own, Next>,
  own: Own,
): Next | Promise<Next>
export function after<Value, Own, Next>(
  value: Value | Promise<Value>,
  next: Step<Value, Own | undefined, Next>,
  own?: Own,
): Next | Promise<Next> {
  return value instanceof Promise ? later(value, next, own) : next(value, own)
}

// Apart, because a function that holds another one pays for it in every call.
function later<Value, Own, Next>(
  value: Promise<Value>,
  next: Step<Value, Own, Next>,
  own: Own,
): Promise<Next> {
  return value.then((there) => next(there, own))
}

/** Whether it has to be waited for, also when it is the promise of another library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
