import type { Caller } from '../exchange.ts'
import type { McpServer } from '../server-type.ts'
import { SUPPORTED_VERSIONS, TASKS_EXTENSION } from '../wire/versions.ts'
import { CACHEABLE } from './method.ts'
import type { Method } from './method.ts'

/** Says what the server can do, to modern clients. */
export const discover: Method = (server) => ({
  supportedVersions: SUPPORTED_VERSIONS,
  capabilities: capabilities('modern'),
  ...instructions(server),
  ...CACHEABLE,
})

/** What the server offers to clients of an era. */
export function capabilities(era: Caller['era']): object {
  return {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(era === 'modern' && { extensions: { [TASKS_EXTENSION]: {} } }),
  }
}

/** Guidance for the model, where there is some. */
export function instructions({ options, source }: McpServer): object {
  const text = options.instructions ?? source.description
  return text === undefined ? {} : { instructions: text }
}
