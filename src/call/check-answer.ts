import type { Interaction } from '../contract/interaction.ts'
import type { Schema } from '../define/schema/schema.ts'

/** An answer as it counts, or what is wrong with it: words that follow its subject. */
export type CheckedAnswer =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

// What the whole of a value is called where it is an input.
const WHOLE = 'the input '

/** Whether a value answers a question; `schema` is that of an input. */
export async function checkAnswer(
  { kind, options = [] }: Pick<Interaction, 'kind' | 'options'>,
  schema: Schema | undefined,
  given: unknown,
): Promise<CheckedAnswer> {
  if (kind === 'confirm')
    return typeof given === 'boolean'
      ? { ok: true, value: given }
      : { ok: false, problem: 'must be true or false' }
  if (kind === 'decision') {
    const values = options.map(({ value }) => value)
    return values.includes(given as string)
      ? { ok: true, value: given }
      : { ok: false, problem: `must be one of ${values.join(', ')}` }
  }
  if (kind === 'sample')
    return typeof given === 'string'
      ? { ok: true, value: given }
      : { ok: false, problem: 'must be text' }
  const checked = await schema?.check(given)
  if (!checked) return { ok: true, value: given }
  if (checked.ok) return checked
  const words = (await import('../define/schema/issues.ts')).describeIssues(checked.issues)
  return {
    ok: false,
    problem: words.startsWith(WHOLE) ? words.slice(WHOLE.length) : `does not fit: ${words}`,
  }
}
