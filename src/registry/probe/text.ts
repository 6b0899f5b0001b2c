const LONGEST = 20_000

/** A text of somebody else, without blanks around it and not endless; undefined for anything that is no text. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim().slice(0, LONGEST) : ''
  return text === '' ? undefined : text
}

/** The texts in a list of somebody else. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((item) => textOf(item) ?? []) : []
}
