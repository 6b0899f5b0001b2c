const NOT_JSON_NUMBERS = /"(?:[^"\\\n]|\\.)*"|-?\b(?:NaN|Infinity)\b/g

/** JSON as foreign programs write it: `NaN` and `Infinity`, which Python writes though JSON has none, are null. Undefined for what is no JSON. */
export function parseForeign(text: string): { readonly value: unknown; readonly mended?: true } | undefined {
  const strict = parse(text)
  if (strict || !/NaN|Infinity/.test(text)) return strict
  const mended = parse(text.replace(NOT_JSON_NUMBERS, (token) => (token.startsWith('"') ? token : 'null')))
  return mended && { ...mended, mended: true }
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
