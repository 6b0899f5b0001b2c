/** Goes on with a value: at once where it is there, later where it is promised. Each promise costs a call more than most of its work. */
export function after<Value, Next>(value: Value | Promise<Value>, next: (value: Value) => Next | Promise<Next>): Next | Promise<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}
