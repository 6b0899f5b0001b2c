import type { FoundTool, Loaded, Problem } from '../found.ts'
import type { ErrorCodes } from '../manifests/error-codes.ts'
import type { LoadContext } from '../source.ts'
import { readCodesBody } from './body.ts'
import type { Refusal } from './candidate.ts'
import { toolOfManifest, toolsOfProgram } from './found-tools.ts'
import type { Home } from './home.ts'
import type { View } from './look-through.ts'
import type { Trouble } from './outline.ts'
import type { Known } from './remember.ts'
import type { Servers } from './servers-of.ts'

/** Everything that a folder brings, from what is known of its files. */
export async function collect(
  home: Omit<Home, 'codes'>,
  view: View,
  refusals: readonly Refusal[],
  servers: Servers,
  context: LoadContext,
): Promise<Loaded> {
  const { source } = home
  const tools: FoundTool[] = []
  const problems: Problem[] = refusals.map(({ path, reason, message, fix }) => ({
    source,
    location: path,
    reason,
    message,
    fix,
    severity: 'error',
  }))
  const report = (
    { candidate: { path } }: Known,
    { reason, message, fix }: Trouble,
    severity: Problem['severity'] = 'error',
  ): void => void problems.push({ source, location: path, reason, message, fix, severity })
  const inside: Home = { ...home, codes: codesOf(view) }
  const opened: Promise<Loaded>[] = []
  const documented: Known[] = []

  for (const { known, path, trouble } of view.manifests) {
    const { outline } = known
    if (trouble) report(known, trouble)
    else if (outline.is === 'problem') report(known, outline)
    else if (outline.is === 'manifest' && path !== undefined)
      tools.push(toolOfManifest(inside, known, outline, path))
    else if (outline.is === 'manifest') opened.push(servers.load(known, outline, source, context))
  }
  for (const known of view.programs) {
    const { outline } = known
    if (outline.is === 'problem') report(known, outline)
    if (outline.is !== 'tools') continue
    for (const tool of toolsOfProgram(inside, known, outline)) tools.push(tool)
    if (outline.more) documented.push(known)
    for (const warning of outline.warnings ?? []) report(known, warning, 'warning')
  }
  await servers.keep(new Set(view.manifests.map(({ known }) => known.record.body)))
  const own =
    documented.length === 0
      ? { resources: [], prompts: [] }
      : (await import('./documents-of.ts')).documentsOfPrograms(inside, documented, report)
  const remote = await Promise.all(opened)
  return {
    tools: [...tools, ...remote.flatMap((loaded) => loaded.tools)],
    resources: [...own.resources, ...remote.flatMap(({ resources = [] }) => resources)],
    prompts: [...own.prompts, ...remote.flatMap(({ prompts = [] }) => prompts)],
    problems: [...problems, ...remote.flatMap((loaded) => loaded.problems ?? [])],
  }
}

function codesOf({ manifests }: View): () => ErrorCodes {
  const record = manifests.find(({ known }) => known.outline.is === 'error-codes')?.known.record
  let codes: ErrorCodes | undefined
  return () => (codes ??= record === undefined ? {} : readCodesBody(record.body))
}
