import type { Client, StandardSchemaV1, Tool } from '@modelcontextprotocol/client'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'

const MOST_PAGES = 200
const INVALID_RESULT = 'INVALID_RESULT'
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'toolable', validate: (value) => ({ value }) },
}

type Options = NonNullable<Parameters<Client['listTools']>[1]>

/** The tools of a server. One that breaks the rules is told and left out, and the others stay. */
export async function listTools(
  client: Client,
  options: Options,
  tell: (name: string, problem: string) => void,
): Promise<readonly Tool[]> {
  try {
    return (await client.listTools(undefined, options)).tools
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== INVALID_RESULT) throw error
    const entries = await listLoosely(client, options)
    if (!entries) throw error
    return entries.flatMap((entry, index) => {
      const tool = readEntry(entry)
      if (typeof tool === 'string')
        tell(
          isObject(entry) && typeof entry['name'] === 'string'
            ? `'${entry['name']}'`
            : `entry ${index + 1}`,
          tool,
        )
      return typeof tool === 'string' ? [] : [tool]
    })
  }
}

async function listLoosely(
  client: Client,
  { timeout }: Options,
): Promise<readonly unknown[] | undefined> {
  const entries: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await client.request(
      { method: 'tools/list', ...(cursor !== undefined && { params: { cursor } }) },
      ANYTHING,
      timeout === undefined ? {} : { timeout },
    )
    const { tools, nextCursor }: JsonObject = isObject(answer) ? answer : {}
    if (!Array.isArray(tools)) return undefined
    entries.push(...(tools as unknown[]))
    if (typeof nextCursor !== 'string') return entries
    cursor = nextCursor
  }
  return undefined
}

// What is not about calling it may be missing or wrong.
function readEntry(entry: unknown): Tool | string {
  if (!isObject(entry)) return 'it is no object'
  const { name, title, description, inputSchema = {}, outputSchema, annotations } = entry
  if (typeof name !== 'string' || name === '') return 'it has no name'
  if (
    !isObject(inputSchema) ||
    (inputSchema['type'] !== undefined && inputSchema['type'] !== 'object')
  )
    return 'its input schema describes no object'
  return {
    name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    inputSchema: { ...inputSchema, type: 'object' },
    ...(isObject(outputSchema) && { outputSchema: outputSchema }),
    ...(isObject(annotations) && { annotations: readHints(annotations) }),
  }
}

function readHints(annotations: JsonObject): NonNullable<Tool['annotations']> {
  return Object.fromEntries(
    ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].flatMap((hint) =>
      typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : [],
    ),
  )
}
