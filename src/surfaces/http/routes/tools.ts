import type { ToolEntry } from '../../../call/collect.ts'
import { discoverDocument } from '../../json/discover.ts'
import { manifestDocument } from '../../json/manifest.ts'
import { documentAnswer, outcomeAnswer, withWayOn } from '../answers.ts'
import { cancelledWith, readCallOptions, wantsEvents } from '../call-options.ts'
import { eventAnswer } from '../event-stream.ts'
import type { HttpAnswer } from '../exchange.ts'
import { readJson } from './read-json.ts'
import type { Exchange, FindRoute, Route } from './route.ts'

/** `/tools` and `/tools/<name>`. */
export const findToolRoute: FindRoute = ([name, ...more]) => {
  if (more.length > 0) return undefined
  return name === undefined ? { GET: listTools } : toolRoute(name)
}

async function listTools({ set }: Exchange): Promise<HttpAnswer> {
  const { tools } = discoverDocument(await set.outline()) as { readonly tools: unknown }
  return documentAnswer({ tools })
}

function toolRoute(name: string): Route {
  const onTool =
    (answer: (exchange: Exchange, entry: ToolEntry) => Promise<HttpAnswer>) =>
    async (exchange: Exchange): Promise<HttpAnswer> => {
      const entry = exchange.set.find(name)
      // The toolset itself says best what is wrong with a name.
      return entry ? answer(exchange, entry) : outcomeAnswer(await exchange.set.call(name))
    }
  return { GET: onTool(describeTool), POST: onTool(callTool) }
}

async function describeTool(_exchange: Exchange, { definition }: ToolEntry): Promise<HttpAnswer> {
  return documentAnswer(manifestDocument((await definition.compiled()).manifest))
}

async function callTool(exchange: Exchange, { name, path }: ToolEntry): Promise<HttpAnswer> {
  const { request, set, options } = exchange
  const streamed = wantsEvents(request)
  const callOptions = readCallOptions(request, options.call ?? {})
  const read = await readJson(exchange)
  if ('refused' in read) return read.refused
  const complete = (outcome: Parameters<typeof withWayOn>[0]) =>
    withWayOn(outcome, [set.name, ...(set.entries.length === 1 ? [] : path)], read.input)
  if (streamed)
    return eventAnswer(
      set.stream(name, read.input, { ...callOptions, signal: request.signal }),
      complete,
      options.keepAlive,
    )
  return outcomeAnswer(
    complete(await set.call(name, read.input, cancelledWith(request, callOptions))),
  )
}
