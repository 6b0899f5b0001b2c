/**
 * References inside one schema document: pointers, anchors and embedded `$id`s. Nothing is ever fetched.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema } from '../../util/values.ts'
import { isSchemaObject } from './source.ts'
import type { AnySchema } from './subschemas.ts'
import { forEachSubschema, getKeyword, isSchema } from './subschemas.ts'

/** Finds what the references of one document point to. */
export type SchemaRefs = {
  /**
   * What the `$ref` of this schema points to; undefined when it has none, or when nothing is there.
   */
  follow(schema: JsonSchema): AnySchema | undefined
}

const REF_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const
// Gives documents without an $id something to resolve against; `.invalid` can never be a real host.
const DOCUMENT_URL = 'https://toolable.invalid/schema'

/**
 * Makes the references of a document followable: pointers, anchors and embedded `$id`s. Nothing is
 * ever fetched.
 */
export function createRefs(root: JsonSchema): SchemaRefs {
  let index: RefIndex | undefined
  return {
    follow(schema) {
      const reference = getRef(schema)
      if (reference === undefined) return undefined
      index ??= buildRefIndex(root)
      return resolveRef(index, schema, reference)
    },
  }
}

/** The reference that a schema carries. */
export function getRef(schema: JsonSchema): string | undefined {
  for (const keyword of REF_KEYWORDS) {
    const reference = getKeyword(schema, keyword)
    if (typeof reference === 'string') return reference
  }
  return undefined
}

/**
 * Throws CONFIG for a reference that points outside the document, to nothing, or in a circle
 * without end.
 */
export function checkRefs(root: JsonSchema, refs: SchemaRefs): void {
  const seen = new Set<JsonSchema>()
  const visit = (schema: AnySchema): void => {
    if (typeof schema === 'boolean' || seen.has(schema)) return
    seen.add(schema)
    const reference = getRef(schema)
    if (reference !== undefined) {
      const target = refs.follow(schema)
      if (target === undefined) throw createUnresolvedRefError(reference)
      rejectEndlessChain(schema, refs)
      visit(target)
    }
    forEachSubschema(schema, visit)
  }
  visit(root)
}

type RefIndex = {
  readonly resources: Map<string, AnySchema>
  readonly bases: Map<JsonSchema, string>
  readonly dynamicAnchors: Map<string, JsonSchema>
}

function buildRefIndex(root: JsonSchema): RefIndex {
  const index: RefIndex = {
    resources: new Map([[DOCUMENT_URL, root]]),
    bases: new Map(),
    dynamicAnchors: new Map(),
  }
  const visit = (schema: AnySchema, base: string): void => {
    if (typeof schema === 'boolean' || index.bases.has(schema)) return
    const id = getKeyword(schema, '$id')
    const url = typeof id === 'string' ? parseUrl(id, base) : undefined
    if (url) index.resources.set(withoutEmptyHash(url), schema)
    const ownBase = url && url.hash === '' ? url.href : base
    index.bases.set(schema, ownBase)
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = getKeyword(schema, keyword)
      if (typeof anchor !== 'string') continue
      index.resources.set(`${ownBase}#${anchor}`, schema)
      // The outermost one wins, as dynamic scope demands.
      if (keyword === '$dynamicAnchor' && !index.dynamicAnchors.has(anchor))
        index.dynamicAnchors.set(anchor, schema)
    }
    forEachSubschema(schema, (subschema) => visit(subschema, ownBase))
  }
  visit(root, DOCUMENT_URL)
  return index
}

function resolveRef(index: RefIndex, schema: JsonSchema, reference: string): AnySchema | undefined {
  if (getKeyword(schema, '$dynamicRef') === reference) {
    const dynamic = index.dynamicAnchors.get(reference.replace(/^.*#/, ''))
    if (dynamic) return dynamic
  }
  const url = parseUrl(reference, index.bases.get(schema) ?? DOCUMENT_URL)
  if (!url) return undefined
  const whole = index.resources.get(withoutEmptyHash(url))
  if (whole !== undefined) return whole
  const fragment = url.hash.slice(1)
  url.hash = ''
  const resource = index.resources.get(withoutEmptyHash(url))
  return resource !== undefined && fragment.startsWith('/')
    ? followPointer(resource, fragment)
    : undefined
}

function followPointer(resource: AnySchema, fragment: string): AnySchema | undefined {
  let here: unknown = resource
  for (const part of fragment.split('/').slice(1)) {
    const key = decodePointerPart(part)
    // Tuples written the old way (`items: [...]`) have become `prefixItems`.
    if (/^\d+$/.test(key) && isSchemaObject(here) && Array.isArray(here['prefixItems']))
      here = here['prefixItems']
    if (Array.isArray(here)) here = here[Number(key)]
    else if (isSchemaObject(here) && Object.hasOwn(here, key)) here = here[key]
    else if (isSchemaObject(here) && key === 'items' && Object.hasOwn(here, 'prefixItems')) continue
    else return undefined
  }
  return isSchema(here) ? here : undefined
}

function decodePointerPart(part: string): string {
  let text = part
  try {
    text = decodeURIComponent(part)
  } catch {
    // A stray percent sign stands for itself.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

function parseUrl(reference: string, base: string): URL | undefined {
  try {
    return new URL(reference, base)
  } catch {
    return undefined
  }
}

function withoutEmptyHash(url: URL): string {
  return url.href.replace(/#$/, '')
}

function rejectEndlessChain(schema: JsonSchema, refs: SchemaRefs): void {
  const passed = new Set<AnySchema>()
  let here: AnySchema | undefined = schema
  while (here !== undefined && typeof here !== 'boolean') {
    if (passed.has(here))
      throw new ToolError(
        'CONFIG',
        `the schema has a $ref '${getRef(schema)}' that leads back to itself`,
      )
    passed.add(here)
    here = refs.follow(here)
  }
}

function createUnresolvedRefError(reference: string): ToolError {
  if (/^[a-z][a-z\d+.-]*:/i.test(reference)) {
    return new ToolError(
      'CONFIG',
      `the schema has a $ref to '${reference}', and schemas are never fetched`,
      {
        suggestion:
          'Put the referenced schema under $defs of the same document and point to it with #/$defs/<name>',
      },
    )
  }
  return new ToolError('CONFIG', `the schema has a $ref to '${reference}', and nothing is there`, {
    suggestion: 'Point to a schema of the same document, such as #/$defs/<name>',
  })
}
