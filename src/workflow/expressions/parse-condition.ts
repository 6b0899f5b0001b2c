import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { boundedCache } from './bounded-cache.ts'
import { parseExpression } from './parse-expression.ts'
import { OPEN, parseTemplate } from './parse-template.ts'
import type { Expression } from './syntax.ts'

/** Reads what stands after `when`: one expression, with `${{ }}` around all of it or without. Throws INVALID_INPUT. */
export const parseCondition: (text: string) => Expression = boundedCache((text) => {
  if (!text.trimStart().startsWith(OPEN)) return parseExpression(text)
  const [expression, ...more] = parseTemplate(text.trim())
  // A text that something was put into would be true whatever was put in.
  if (typeof expression !== 'object' || more.length > 0)
    throw new ToolError(
      'INVALID_INPUT',
      `the condition ${JSON.stringify(shorten(text, 100))} is only partly an expression`,
      { suggestion: 'Put all of it into one ${{ }}, or leave ${{ }} out' },
    )
  return expression
})
