import { promptsDocument, resourcesDocument } from '../../json/discover.ts'
import { documentAnswer, outcomeAnswer } from '../answers.ts'
import { cancelledWith, readCallOptions } from '../call-options.ts'
import type { HttpAnswer } from '../exchange.ts'
import { readJson } from './read-json.ts'
import type { Exchange, FindRoute } from './route.ts'

/** `/resources`, and `/resources?uri=…` for one of them. */
export const findResourceRoute: FindRoute = (segments) =>
  segments.length === 0 ? { GET: readResources } : undefined

/** `/prompts` and `/prompts/<name>`. */
export const findPromptRoute: FindRoute = ([name, ...more]) => {
  if (more.length > 0) return undefined
  return name === undefined
    ? { GET: listPrompts }
    : { POST: (exchange) => renderPrompt(exchange, name) }
}

async function readResources({ request, set, options }: Exchange): Promise<HttpAnswer> {
  const uri = new URLSearchParams(request.search).get('uri')
  if (uri === null) return documentAnswer(resourcesDocument(await set.outline()))
  return outcomeAnswer(
    await set.readResource(
      uri,
      cancelledWith(request, readCallOptions(request, options.call ?? {})),
    ),
  )
}

async function listPrompts({ set }: Exchange): Promise<HttpAnswer> {
  return documentAnswer(promptsDocument(await set.outline()))
}

async function renderPrompt(exchange: Exchange, name: string): Promise<HttpAnswer> {
  const { request, set, options } = exchange
  const callOptions = readCallOptions(request, options.call ?? {})
  const read = await readJson(exchange)
  return 'refused' in read
    ? read.refused
    : outcomeAnswer(await set.renderPrompt(name, read.input, cancelledWith(request, callOptions)))
}
