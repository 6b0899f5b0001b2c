import type { ServedTool } from '../source.ts'

const WEIGHTS = { name: 5, tags: 3, summary: 2, description: 1 } as const
// Saturation and length as in BM25, with its usual constants.
const SATURATION = 1.2
const LENGTH = 0.75

type Field = { readonly weight: number; readonly words: readonly string[] }

/** The tools that fit a query best, best first; all of them, as they stand, for an empty query. */
export function searchTools(
  tools: readonly ServedTool[],
  query: string,
  limit: number,
): readonly ServedTool[] {
  const wanted = [...new Set(wordsOf(query))]
  if (wanted.length === 0) return tools.slice(0, limit)
  const documents = tools.map((tool) => ({ tool, fields: fieldsOf(tool) }))
  const averages =
    documents.reduce((sum, { fields }) => sum + lengthOf(fields), 0) / Math.max(1, documents.length)
  const rarity = new Map(
    wanted.map((word) => [
      word,
      rarityOf(
        word,
        documents.map(({ fields }) => fields),
      ),
    ]),
  )
  return documents
    .map(({ tool, fields }) => ({
      tool,
      score: wanted.reduce(
        (sum, word) => sum + rarity.get(word)! * weigh(word, fields, averages),
        0,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score || (left.tool.name < right.tool.name ? -1 : 1))
    .slice(0, limit)
    .map(({ tool }) => tool)
}

function fieldsOf({ name, facts }: ServedTool): Field[] {
  return [
    { weight: WEIGHTS.name, words: wordsOf(`${name} ${facts.title ?? ''}`) },
    { weight: WEIGHTS.tags, words: wordsOf(facts.tags.join(' ')) },
    { weight: WEIGHTS.summary, words: wordsOf(facts.summary) },
    { weight: WEIGHTS.description, words: wordsOf(facts.description ?? '') },
  ]
}

function weigh(word: string, fields: readonly Field[], average: number): number {
  const count = fields.reduce(
    (sum, { weight, words }) =>
      sum + weight * words.filter((candidate) => matches(candidate, word)).length,
    0,
  )
  const length = 1 - LENGTH + LENGTH * (lengthOf(fields) / Math.max(1, average))
  return (count * (SATURATION + 1)) / (count + SATURATION * length)
}

function rarityOf(word: string, documents: readonly (readonly Field[])[]): number {
  const having = documents.filter((fields) =>
    fields.some(({ words }) => words.some((candidate) => matches(candidate, word))),
  ).length
  return Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))
}

// `files` finds `file`, and the beginning of a word finds the word.
function matches(candidate: string, word: string): boolean {
  return (
    candidate === word ||
    (word.length >= 3 && candidate.startsWith(word)) ||
    (candidate.length >= 3 && word.startsWith(candidate) && word.length - candidate.length <= 2)
  )
}

function lengthOf(fields: readonly Field[]): number {
  return fields.reduce((sum, { words }) => sum + words.length, 0)
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
