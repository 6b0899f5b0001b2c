import type ts from 'typescript'
import type { Compiler } from '../types/work.ts'
import { commentOf } from './comment-of.ts'
import { parseComment } from './parse-comment.ts'
import { readValueTags } from './value-tags.ts'
import type { ValueTags } from './value-tags.ts'

/** What the comment of a property says about its value. */
export function propertyTags(ts: Compiler, symbol: ts.Symbol): ValueTags {
  const source =
    symbol.declarations
      ?.map((declaration) => commentOf(ts, declaration))
      .find((comment) => comment !== '') ?? ''
  const { text, blocks } = parseComment(source)
  return readValueTags(blocks, text)
}
