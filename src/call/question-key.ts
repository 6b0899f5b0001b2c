import { ToolError } from '../contract/tool-error.ts'

/** The name of a question, as a field to spread; nothing when it has none. Throws INTERNAL for a name that not every surface can carry. */
export function checkKey(key: unknown): { readonly key?: string } {
  if (key === undefined) return {}
  if (typeof key === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(key)) return { key }
  const shown = (JSON.stringify(key) ?? String(key)).slice(0, 80)
  throw new ToolError(
    'INTERNAL',
    `the key of a question must be 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'; it is ${shown}`,
    {
      suggestion: {
        action: 'abort',
        fix: 'The author of the tool should name the question otherwise',
      },
    },
  )
}
