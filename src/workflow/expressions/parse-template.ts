import { boundedCache } from './bounded-cache.ts'
import { expressionFault } from './expression-fault.ts'
import { ExpressionReader } from './expression-reader.ts'
import type { Expression, Template } from './syntax.ts'

/** What opens an expression in a text. */
export const OPEN = '${{'
const CLOSE = '}}'

/** Cuts a text into what stands there and what is put in. Throws INVALID_INPUT with the place for an expression that cannot be read. */
export const parseTemplate: (text: string) => Template = boundedCache((text) => {
  const parts: (string | Expression)[] = []
  let from = 0
  for (let open = text.indexOf(OPEN); open !== -1; open = text.indexOf(OPEN, from)) {
    if (open > from) parts.push(text.slice(from, open))
    const { expression, end } = readPlaceholder(text, open)
    parts.push(expression)
    from = end
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
})

/** The expression in the `${{ }}` that opens at a place, and where it ends. */
export function readPlaceholder(
  text: string,
  open: number,
): { readonly expression: Expression; readonly end: number } {
  const { expression, end } = new ExpressionReader(text, open + OPEN.length).read()
  if (!text.startsWith(CLOSE, end))
    throw expressionFault(text, end, "'}}', '.', '[', a comparison, '&&' or '||'")
  return { expression, end: end + CLOSE.length }
}
