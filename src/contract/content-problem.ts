import type { ContentBlock } from './content.ts'
import { isObject } from './json.ts'

/** What keeps a value from being content that readers understand, as the end of a sentence; undefined when nothing does. */
export function contentProblem(block: unknown): string | undefined {
  if (!isObject(block))
    return `is ${block === null ? 'null' : Array.isArray(block) ? 'a list' : typeof block}, not a block`
  const { type, annotations } = block
  if (typeof type !== 'string' || !Object.hasOwn(PROBLEMS, type))
    return `has the type ${(JSON.stringify(type) ?? 'undefined').slice(0, 40)}; types are ${Object.keys(PROBLEMS).join(', ')}`
  return (
    PROBLEMS[type as ContentBlock['type']](block) ??
    (annotations === undefined ? undefined : annotationProblem(annotations))
  )
}

type Fields = { readonly [field: string]: unknown }

const PROBLEMS: { readonly [Type in ContentBlock['type']]: (block: Fields) => string | undefined } =
  {
    text: ({ text }) => (typeof text === 'string' ? undefined : "needs a 'text'"),
    image: (block) => mediaProblem(block, 'image/png'),
    audio: (block) => mediaProblem(block, 'audio/wav'),
    resource: ({ resource }) =>
      isObject(resource) ? resourceProblem(resource) : "needs a 'resource'",
    resource_link: linkProblem,
  }

function mediaProblem({ data, mimeType }: Fields, example: string): string | undefined {
  if (typeof mimeType !== 'string' || !mimeType.includes('/'))
    return `needs a 'mimeType' such as ${example}`
  return isBase64(data) ? undefined : "needs 'data' in base64"
}

function resourceProblem({ uri, mimeType, text, blob }: Fields): string | undefined {
  if (typeof uri !== 'string') return "needs a 'uri' in its resource"
  if (!isTextOrAbsent(mimeType)) return "has a 'mimeType' in its resource that is no text"
  const given = typeof text === 'string' ? blob === undefined : text === undefined && isBase64(blob)
  return given ? undefined : "needs either a 'text' or a 'blob' in base64 in its resource"
}

function linkProblem({ uri, name, size, ...more }: Fields): string | undefined {
  if (typeof uri !== 'string') return "needs a 'uri'"
  if (typeof name !== 'string') return "needs a 'name'"
  if (size !== undefined && !(Number.isSafeInteger(size) && (size as number) >= 0))
    return "has a 'size' that is no number of bytes"
  const wrong = ['title', 'description', 'mimeType'].find((field) => !isTextOrAbsent(more[field]))
  return wrong && `has a '${wrong}' that is no text`
}

function annotationProblem(annotations: unknown): string | undefined {
  if (!isObject(annotations)) return "has 'annotations' that are no object"
  const { audience, priority, lastModified } = annotations
  if (
    audience !== undefined &&
    !(Array.isArray(audience) && audience.every((who) => who === 'user' || who === 'assistant'))
  )
    return "has an 'audience' other than user and assistant"
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1))
    return "has a 'priority' that is not between 0 and 1"
  return isTextOrAbsent(lastModified) ? undefined : "has a 'lastModified' that is no text"
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)
}
