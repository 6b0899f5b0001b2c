import { isObject } from '../../contract/json.ts'
import type { Annotations } from '../../contract/manifest.ts'
import type { ForeignFacts } from '../found.ts'

/** One entry of a list of tools. */
export type Manifest = { readonly name: string; readonly facts: ForeignFacts }

/** The entries of a list in any of its forms: a list, `{tools: [...]}`, or `{service: {tools: [...]}, ...}`; undefined where there is none. */
export function entriesOf(document: unknown): readonly unknown[] | undefined {
  if (Array.isArray(document)) return document
  if (!isObject(document)) return undefined
  if (Array.isArray(document['tools'])) return document['tools']
  const services = Object.values(document).flatMap((service) =>
    isObject(service) && Array.isArray(service['tools']) ? [service['tools'] as unknown[]] : [],
  )
  return services.length === 0 ? undefined : services.flat()
}

/** Reads an entry: the plain form (`parameters`), the function form of OpenAI, or the form of MCP (`inputSchema`). A text says why it cannot be read. */
export function readManifest(entry: unknown): Manifest | string {
  const fields = isObject(entry) && isObject(entry['function']) ? entry['function'] : entry
  if (!isObject(fields)) return 'it is no object'
  const { name, title, description, tags, annotations } = fields
  if (typeof name !== 'string' || name === '') return "it has no 'name'"
  const input = [fields['parameters'], fields['inputSchema'], fields['input_schema']].find(
    (schema) => schema !== undefined && schema !== null,
  )
  if (input !== undefined && !isObject(input))
    return `the parameters of '${name}' are no JSON Schema`
  const output = [fields['outputSchema'], fields['output_schema']].find(isObject)
  return {
    name,
    facts: {
      ...(typeof title === 'string' && title.trim() !== '' && { title }),
      ...(typeof description === 'string' && { description }),
      ...(Array.isArray(tags) && { tags: tags.filter((tag) => typeof tag === 'string') }),
      ...(input !== undefined &&
        Object.keys(input).length > 0 && { inputSchema: { type: 'object', ...input } }),
      ...(output !== undefined && { outputSchema: output }),
      ...(isObject(annotations) && { annotations: readHints(annotations) }),
    },
  }
}

function readHints(hints: { readonly [name: string]: unknown }): Annotations {
  const names = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const hint = [hints[`${name}Hint`], hints[name]].find((value) => typeof value === 'boolean')
      return hint === undefined ? [] : [[name, hint]]
    }),
  )
}
