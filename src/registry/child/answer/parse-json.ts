const NOT_JSON_NUMBERS = /"(?:[^"\\\n]|\\.)*"|-?\b(?:NaN|Infinity)\b/g

/** JSON as foreign programs write it: `NaN` and `Infinity`, which Python writes though JSON has none, are null. Undefined for what is no JSON. */
export function parseForeign(
  text: string,
): { readonly value: unknown; readonly mended?: true } | undefined {
  const strict = parse(text)
  if (strict || !/NaN|Infinity/.test(text)) return strict
  const mended = parse(
    text.replace(NOT_JSON_NUMBERS, (token) => (token.startsWith('"') ? token : 'null')),
  )
  return mended && { ...mended, mended: true }
}

/** A whole number in a JSON text that is not the same any more when it is parsed; undefined where there is none. */
export function roundedNumber(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    // Beyond 300 digits nothing is kept, and BigInt takes its time.
    if (
      /^-?\d{16,}$/.test(token) &&
      (token.length > 300 || BigInt(token) !== BigInt(Number(token)))
    )
      return token.slice(0, 40)
  }
  return undefined
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
