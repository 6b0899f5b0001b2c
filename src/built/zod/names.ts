/** Functions of zod that make a schema and do nothing else. */
export const BUILDERS: ReadonlySet<string> = new Set([
  'string', 'number', 'int', 'boolean', 'bigint', 'date', 'any', 'unknown', 'never', 'null', 'undefined', 'object', 'strictObject', 'looseObject', 'array', 'tuple', 'record', 'union', 'discriminatedUnion',
  'intersection', 'enum', 'literal', 'optional', 'nullable', 'nullish', 'email', 'url', 'uuid', 'lazy', 'preprocess', 'stringbool',
])

/** Objects of zod that hold such functions. */
export const SPACES: { readonly [space: string]: ReadonlySet<string> } = {
  coerce: new Set(['string', 'number', 'boolean', 'bigint', 'date']),
  iso: new Set(['date', 'time', 'datetime', 'duration']),
}

/** Methods of schemas that give another schema and do nothing else. */
export const CHAIN: ReadonlySet<string> = new Set([
  'describe', 'meta', 'optional', 'nullable', 'nullish', 'default', 'prefault', 'min', 'max', 'length', 'nonempty', 'gt', 'gte', 'lt', 'lte', 'int', 'positive', 'negative', 'nonnegative', 'nonpositive',
  'multipleOf', 'step', 'finite', 'safe', 'email', 'url', 'uuid', 'regex', 'startsWith', 'endsWith', 'includes', 'trim', 'toLowerCase', 'toUpperCase', 'refine', 'superRefine', 'transform', 'pipe', 'or', 'and',
  'array', 'strict', 'loose', 'passthrough', 'strip', 'catchall', 'extend', 'pick', 'omit', 'partial', 'required', 'brand', 'readonly', 'catch',
])
