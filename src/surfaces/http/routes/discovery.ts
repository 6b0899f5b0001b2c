import { discoverDocument } from '../../json/discover.ts'
import { documentAnswer } from '../answers.ts'
import type { HttpAnswer } from '../exchange.ts'
import type { Exchange, FindRoute } from './route.ts'

const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1'

/** `/`: what is here, with links that are relative to it. */
export const findIndexRoute: FindRoute = (segments) =>
  segments.length === 0 ? { GET: (exchange) => index(exchange, '') } : undefined

/** `/openapi.json`. */
export const findOpenapiRoute: FindRoute = (segments) =>
  segments.length === 0 ? { GET: openapi } : undefined

/** `/.well-known/toolable.json`, and the catalogue of RFC 9727. */
export const findWellKnownRoute: FindRoute = ([name, ...more]) => {
  if (more.length > 0) return undefined
  if (name === 'toolable.json') return { GET: (exchange) => index(exchange, '../') }
  return name === 'api-catalog' ? { GET: catalogue } : undefined
}

async function index({ set, options }: Exchange, up: string): Promise<HttpAnswer> {
  const links = {
    tools: `${up}tools`,
    openapi: `${up}openapi.json`,
    ...(options.mcp && { mcp: `${up}mcp` }),
    ...(set.resources.length > 0 && { resources: `${up}resources` }),
    ...(set.prompts.length > 0 && { prompts: `${up}prompts` }),
  }
  const { description } = set.options
  return documentAnswer({
    ...discoverDocument(await set.outline()),
    ...(description !== undefined && { description }),
    links,
  })
}

async function openapi({ set, options: { basePath, token } }: Exchange): Promise<HttpAnswer> {
  const { openapiDocument } = await import('../openapi/document.ts')
  return documentAnswer(
    openapiDocument(await set.manifest(), {
      ...(basePath && { serverUrl: basePath }),
      token: token === true,
    }),
  )
}

function catalogue(): HttpAnswer {
  return documentAnswer(
    {
      linkset: [
        {
          anchor: '../',
          'service-desc': [{ href: '../openapi.json', type: OPENAPI_TYPE }],
          'service-meta': [{ href: 'toolable.json', type: 'application/json' }],
        },
      ],
    },
    'application/linkset+json',
  )
}
