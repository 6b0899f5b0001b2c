import type ts from 'typescript'
import type { Compiler } from '../types/work.ts'

/** The documentation comment that stands above a declaration, as it is written; empty where there is none. */
export function commentOf(ts: Compiler, node: ts.Node): string {
  const comments = ts
    .getJSDocCommentsAndTags(node)
    .filter((part): part is ts.JSDoc => ts.isJSDoc(part) && belongsTo(ts, part, node))
  return comments.at(-1)?.getFullText() ?? ''
}

// Above a parameter stands also what is said above its function.
function belongsTo(ts: Compiler, comment: ts.JSDoc, node: ts.Node): boolean {
  return !ts.isParameter(node) || comment.parent === node
}
