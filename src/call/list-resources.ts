import { isObject } from '../contract/json.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ListedResource, Resource } from '../define/resource.ts'
import type { Identity } from './finished.ts'
import type { CallOptions } from './options.ts'
import { answer } from './read.ts'
import { createReadingContext } from './reading-context.ts'
import type { RunningCall } from './running.ts'

/** The addresses that can be read right now, each once; never throws. */
export function listResources(
  resources: readonly Resource[],
  options: CallOptions = {},
  identity: Identity = {},
): Promise<Outcome<readonly ListedResource[]>> {
  return answer('resources', options, identity, async (call) => {
    const lists = await Promise.all(resources.map((resource) => listOne(resource, options, call)))
    const seen = new Set<string>()
    return lists.flat().filter(({ uri }) => !seen.has(uri) && seen.add(uri))
  }) as Promise<Outcome<readonly ListedResource[]>>
}

async function listOne(
  { manifest, list }: Resource,
  options: CallOptions,
  call: RunningCall,
): Promise<ListedResource[]> {
  const {
    uri,
    name,
    title,
    summary,
    mimeTypes: [mimeType],
  } = manifest
  const common = { description: summary, ...(mimeType !== undefined && { mimeType }) }
  if (!list)
    return uri.includes('{')
      ? []
      : [
          {
            uri,
            ...(name !== undefined && { name }),
            ...(title !== undefined && { title }),
            ...common,
          },
        ]
  const asker = `resource '${uri}'`
  const found: ListedResource[] = []
  for await (const listed of (await list(
    createReadingContext(asker, options, call),
  )) as AsyncIterable<unknown>) {
    if (call.over) break
    if (!isObject(listed) || typeof listed['uri'] !== 'string')
      throw new ToolError('INTERNAL', `${asker} lists something without an address`, {
        suggestion: {
          action: 'abort',
          fix: 'The author of the resource should list { uri, name }',
        },
      })
    found.push({ ...common, ...(listed as ListedResource) })
  }
  return found
}
