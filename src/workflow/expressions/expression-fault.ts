import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** An expression that cannot be read: what was expected, what is there, and at which character (from 1). */
export function expressionFault(text: string, at: number, expected: string): ToolError {
  const found =
    at >= text.length ? 'the text ends' : `found ${JSON.stringify(shorten(text.slice(at), 20))}`
  return new ToolError(
    'INVALID_INPUT',
    `the expression ${JSON.stringify(shorten(text, 100))} cannot be read: at character ${at + 1} ${found}; expected ${expected}`,
    {
      details: { position: at + 1 },
      suggestion:
        'Write names and keys (steps.scan.result[0].path), texts in quotes, numbers, true, false, null, == != < <= > >= && || ! and parentheses',
    },
  )
}
