import { shortHash } from '../short-hash.ts'

/** What a provider accepts as the name of a field. */
export type FieldRule = {
  readonly accepts: RegExp
  readonly others: RegExp
  readonly longest: number
}

/** The rules of the providers that have any. */
export const FIELD_RULES = {
  anthropic: { accepts: /^[a-zA-Z0-9_.-]{1,64}$/, others: /[^a-zA-Z0-9_.-]+/g, longest: 64 },
  gemini: { accepts: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/, others: /[^a-zA-Z0-9_]+/g, longest: 64 },
} as const satisfies { readonly [provider: string]: FieldRule }

/** What each field of an object is called for a provider, by its own name: the same where the rule accepts it, unique always. */
export function fieldNames(fields: Iterable<string>, rule: FieldRule): Map<string, string> {
  const all = [...fields]
  const taken = new Set(all.filter((field) => rule.accepts.test(field)))
  return new Map(
    all.map((field) => {
      if (taken.has(field)) return [field, field]
      const plain = rename(field, rule)
      const name =
        taken.has(plain) || !rule.accepts.test(plain) ? suffix(plain, field, rule) : plain
      taken.add(name)
      return [field, name]
    }),
  )
}

function rename(field: string, { accepts, others, longest }: FieldRule): string {
  const replaced = field.replace(others, '_').slice(0, longest)
  return accepts.test(replaced) ? replaced : `_${replaced}`.slice(0, longest)
}

function suffix(plain: string, field: string, { longest }: FieldRule): string {
  return `${plain.slice(0, longest - 9)}_${shortHash(field)}`
}
