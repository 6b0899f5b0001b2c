import { DECODE_MARK } from './decode-mark.ts'

type Options = { readonly [option: string]: unknown }

const DATE = { type: 'string', format: 'date-time', [DECODE_MARK]: 'date' }
const BIGINT = { type: 'integer', [DECODE_MARK]: 'bigint' }

// How each library is told to write dates and big integers instead of throwing; what JSON has no word for becomes "anything".
const OPTIONS: ReadonlyMap<string, Options> = new Map<string, Options>([
  [
    'zod',
    {
      unrepresentable: 'any',
      override({
        zodSchema,
        jsonSchema,
      }: {
        zodSchema: { _zod: { def: { type: string } } }
        jsonSchema: Record<string, unknown>
      }): void {
        const { type } = zodSchema._zod.def
        if (type === 'date') Object.assign(jsonSchema, DATE)
        if (type === 'bigint') Object.assign(jsonSchema, BIGINT)
      },
    },
  ],
  [
    'arktype',
    {
      fallback: {
        date: ({ base }: { base: object }) => ({ ...base, ...DATE }),
        domain: ({ base, domain }: { base: object; domain: string }) =>
          domain === 'bigint' ? { ...base, ...BIGINT } : base,
        default: ({ base }: { base: object }) => base,
      },
    },
  ],
  [
    'valibot',
    {
      errorMode: 'ignore',
      overrideSchema({ valibotSchema }: { valibotSchema: { type: string } }): object | undefined {
        if (valibotSchema.type === 'date') return DATE
        return valibotSchema.type === 'bigint' ? BIGINT : undefined
      },
    },
  ],
])

// What the libraries say by themselves; anything else was written by the author.
const STOCK_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized)\b/
const RULES_OF_AUTHORS = new Set([
  'custom',
  'predicate',
  'check',
  'raw_check',
  'partial_check',
  'check_items',
])

/** What to pass to a library when it writes its JSON Schema. */
export function libraryOptionsOf(vendor: string): Options | undefined {
  return OPTIONS.get(vendor)
}

/** How to make a schema usable that cannot give its JSON Schema. */
export function adviseWrapping(vendor: string): string {
  if (vendor === 'valibot')
    return "Wrap it: import { toStandardJsonSchema } from '@valibot/to-json-schema', then toStandardJsonSchema(schema)"
  if (vendor === 'zod')
    return "Use zod 4.2 or newer and import { z } from 'zod': zod/mini and zod 3 cannot give a JSON Schema"
  return `Use a version of ${vendor} that implements Standard JSON Schema (~standard.jsonSchema), or give plain JSON Schema`
}

/** True when an issue comes from a rule that the author wrote: its own message is the best there is. */
export function isRuleOfAuthor(issue: object): boolean {
  const { code, type, message, problem } = issue as {
    code?: unknown
    type?: unknown
    message?: unknown
    problem?: unknown
  }
  if (RULES_OF_AUTHORS.has(String(code)) || RULES_OF_AUTHORS.has(String(type))) return true
  // arktype, the one with a `problem`, writes all its messages itself.
  return problem === undefined && typeof message === 'string' && !STOCK_MESSAGE.test(message)
}
