import type { FoundTool } from '../found.ts'
import type { Home } from './home.ts'
import { loadedDefiner } from './late-definer.ts'
import type { Outline } from './outline.ts'
import type { Known } from './remember.ts'

/** The tools of a program that was asked, or that has a manifest inside. Nothing is parsed before a tool is needed. */
export function toolsOfProgram(
  home: Home,
  known: Known,
  { how, tier, version, tools }: Outline & { readonly is: 'tools' },
): FoundTool[] {
  const { path, name: own } = known.candidate
  // Several tools of one program belong together.
  const source = tools.length > 1 ? own : home.source
  return tools.map(([name, summary, tags], index) => ({
    source,
    name,
    tier,
    kind: how,
    location: path,
    summary,
    tags,
    ...(version !== undefined && { version }),
    define: (wanted, id) =>
      loadedDefiner().defineOfProgram(home, known, { name: wanted, id }, index),
    program: () => loadedDefiner().programOf(home, known, index),
  }))
}

/** The tool that a manifest describes, run by the program at `path`. */
export function toolOfManifest(
  home: Home,
  known: Known,
  { how, version, tools: [[name, summary, tags]] }: Outline & { readonly is: 'manifest' },
  path: string,
): FoundTool {
  return {
    source: home.source,
    name,
    tier: 'manifest',
    kind: how,
    location: known.candidate.path,
    summary,
    tags,
    ...(version !== undefined && { version }),
    define: (wanted, id) =>
      loadedDefiner().defineOfManifest(home, known, { name: wanted, id }, path),
    program: () => loadedDefiner().programOfManifest(home, known, path),
  }
}
