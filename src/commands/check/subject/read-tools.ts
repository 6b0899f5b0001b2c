import { isObject } from '../../../contract/json.ts'
import type { Annotations } from '../../../contract/manifest.ts'
import type { DescribedTool } from './subject.ts'

/** The tools that a document of any known form describes; none where it is something else. */
export function readTools(document: unknown, fallbackName: string): readonly DescribedTool[] {
  const list = Array.isArray(document)
    ? document
    : isObject(document) && Array.isArray(document['tools'])
      ? document['tools']
      : isObject(document)
        ? [document]
        : []
  return list.filter(isObject).map((entry) => readTool(entry, fallbackName))
}

function readTool(given: Record<string, unknown>, fallbackName: string): DescribedTool {
  const entry = isObject(given['function']) ? given['function'] : given
  const schema = [
    entry['input_schema'],
    entry['inputSchema'],
    entry['parameters'],
    entry['schema'],
  ].find(isObject)
  const description = text(entry['description'])
  return {
    name: text(entry['name']) || fallbackName,
    summary: text(entry['summary']) || description.split('\n', 1)[0]!,
    description,
    ...(schema && { inputSchema: schema }),
    annotations: readAnnotations(entry['annotations']),
    examples: Array.isArray(entry['examples']) ? entry['examples'].filter(isObject) : [],
  }
}

function readAnnotations(given: unknown): Annotations {
  if (!isObject(given)) return {}
  const says = (...names: string[]): boolean => names.some((name) => given[name] === true)
  return {
    ...(says('readOnly', 'readOnlyHint', 'read_only') && { readOnly: true }),
    ...(says('destructive', 'destructiveHint') && { destructive: true }),
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}
