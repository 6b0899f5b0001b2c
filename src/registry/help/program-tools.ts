import type { ProgramNode } from './describe-program.ts'
import type { ProgramFacts } from './program-facts.ts'
import { programFacts } from './program-facts.ts'

/** One command of a program as a tool. Plain data: the cache keeps it. */
export type ProgramTool = ProgramFacts & { readonly name: string; readonly path: readonly string[] }

/** A tool for each command; for the program itself where it has none. What only leads to commands is no tool. */
export function toolsOfNode(node: ProgramNode, program: string): ProgramTool[] {
  const below = node.children.flatMap((child) => toolsOfNode(child, program))
  const name =
    node.path.length === 0 ? program : node.path.join('_').replace(/[^\p{L}\d_-]+/gu, '_')
  if (leadsToCommands(node)) return below
  const { facts, program: form } = programFacts(node.help, name)
  const told =
    facts.summary === name && node.summary !== '' ? { ...facts, summary: node.summary } : facts
  return [{ name, path: node.path, facts: told, program: form }, ...below]
}

function leadsToCommands({ path, children, help: { document } }: ProgramNode): boolean {
  if (children.length === 0) return false
  return (
    path.length === 0 || /<?\b(?:sub)?commands?\b>?|\{[^}]*,[^}]*\} \.\.\./i.test(document.usage)
  )
}
