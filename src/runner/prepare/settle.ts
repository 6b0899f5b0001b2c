import type { PlaceGrant } from '../../process/permissions/grants.ts'
import { collectArtifacts } from '../artifacts/collect-artifacts.ts'
import type { Ending } from '../attempt/ending/ending.ts'
import { failWith } from '../attempt/ending/ending.ts'
import type { ToolLine } from '../output/judge-line.ts'
import type { RunPaths } from '../folder/run-paths.ts'
import type { PreparedInputs } from './inputs.ts'

/** What is left to do when the tree of a run is dead and it was a success: its artifacts are hashed and kept, and what it made is put where its caller wanted it. What does not work makes a failure of it. */
export async function settleRun(
  ending: Ending,
  { workspace, artifacts: into }: RunPaths,
  allowed: readonly PlaceGrant[],
  inputs: PreparedInputs,
  signal: AbortSignal,
): Promise<Ending> {
  if (ending.state !== 'completed') return ending
  const last = ending.lines.at(-1)!
  const { artifacts, problems } = await collectArtifacts(
    { workspace, allowed, into, signal },
    last['artifacts'],
  )
  const doubts = problems.map((problem): ToolLine => ({
    type: 'runner_warning',
    code: 'E_ARTIFACT',
    msg: problem.message,
    path: problem.path,
  }))
  try {
    const placed = await inputs.place()
    const result = {
      ...last,
      ...(last['artifacts'] !== undefined && { artifacts }),
      ...(placed.length > 0 && { outputs: placed }),
    }
    return { ...ending, lines: [...ending.lines.slice(0, -1), ...doubts, result] }
  } catch (error) {
    const failed = failWith(error as Error)
    return {
      ...failed,
      lines: [
        ...doubts,
        {
          type: 'diagnostic',
          stream: 'stdout',
          reason: 'not_placed',
          msg: 'the tool gave a result, and what it made could not be put in its place',
          refused: last,
        },
        ...failed.lines,
      ],
    }
  }
}
