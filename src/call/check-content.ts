import type { ContentBlock } from '../contract/content.ts'
import { isObject } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import { toJsonValue } from './json-value.ts'

/** One block or a list of them as JSON can carry it; throws INTERNAL, naming `giver` and the place, for what no reader would understand. */
export function checkContent(giver: string, given: unknown): readonly ContentBlock[] {
  const blocks: readonly unknown[] = Array.isArray(given) ? given : [given]
  return blocks.map((block, index) => {
    const problem = findProblem(block)
    if (problem === undefined) return toJsonValue(block).value as ContentBlock
    throw new ToolError('INTERNAL', `${giver} gave content that cannot be shown: block ${index + 1} ${problem}`, { suggestion: { action: 'abort', fix: 'The author should make it with content.text, content.image, content.audio, content.resource or content.link' } })
  })
}

type Fields = { readonly [field: string]: unknown }

const PROBLEMS: { readonly [Type in ContentBlock['type']]: (block: Fields) => string | undefined } = {
  text: ({ text }) => (typeof text === 'string' ? undefined : "needs a 'text'"),
  image: (block) => mediaProblem(block),
  audio: (block) => mediaProblem(block),
  resource: ({ resource }) => (isObject(resource) ? resourceProblem(resource) : "needs a 'resource'"),
  resource_link: ({ uri, name }) => (typeof uri !== 'string' ? "needs a 'uri'" : typeof name !== 'string' ? "needs a 'name'" : undefined),
}

function findProblem(block: unknown): string | undefined {
  if (!isObject(block)) return `is ${block === null ? 'null' : `a ${typeof block}`}, not an object`
  const { type } = block
  if (typeof type !== 'string' || !Object.hasOwn(PROBLEMS, type)) return `has the type ${(JSON.stringify(type) ?? 'undefined').slice(0, 40)}; types are ${Object.keys(PROBLEMS).join(', ')}`
  return PROBLEMS[type as ContentBlock['type']](block)
}

function mediaProblem({ data, mimeType }: Fields): string | undefined {
  if (typeof mimeType !== 'string' || !mimeType.includes('/')) return "needs a 'mimeType' such as image/png"
  return isBase64(data) ? undefined : "needs 'data' in base64"
}

function resourceProblem({ uri, text, blob }: Fields): string | undefined {
  if (typeof uri !== 'string') return "needs a 'uri' in its resource"
  if (typeof text === 'string' && blob === undefined) return undefined
  return text === undefined && isBase64(blob) ? undefined : "needs either a 'text' or a 'blob' in base64 in its resource"
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)
}
