// Node checks regular expressions while it reads a file, and those over classes of Unicode are slow to check: as text they cost only when used.
const made = new Map<string, RegExp>()

/** A regular expression over Unicode classes (`\p{L}`), made at first use. Not for global ones that keep a position. */
export function unicode(source: string, flags = 'u'): RegExp {
  const key = `${flags}/${source}`
  let expression = made.get(key)
  if (!expression) made.set(key, (expression = new RegExp(source, flags)))
  return expression
}
