import { boundedCache } from './bounded-cache.ts'
import { expressionFault } from './expression-fault.ts'
import { ExpressionReader } from './expression-reader.ts'
import type { Expression } from './syntax.ts'

/** Reads a text that is one expression, without `${{ }}` around it. Throws INVALID_INPUT with the place for anything else. */
export const parseExpression: (text: string) => Expression = boundedCache((text) => {
  const { expression, end } = new ExpressionReader(text).read()
  if (end < text.length)
    throw expressionFault(text, end, "'.', '[', a comparison, '&&', '||' or the end")
  return expression
})
