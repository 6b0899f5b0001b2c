import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import { readWorkflowRun } from '../../../../workflow/run/read-workflow-run.ts'
import { boundQuestion } from '../row/bound-question.ts'
import type { Asked, Standing } from '../row/standing.ts'

/** The questions of a workflow that nobody performs and that an answer would take further. None where its record cannot be read. */
export async function findLeft(paths: RunPaths, standing: Standing): Promise<readonly Asked[]> {
  try {
    const { open } = await readWorkflowRun(paths)
    const { ended, created } = standing.row()
    const since = new Map(standing.left.map(({ question, asked }) => [question.id, asked]))
    return open
      .filter(({ answered }) => answered !== true)
      .map((question) => ({
        question: boundQuestion(question),
        asked: since.get(question.id) ?? ended ?? created,
      }))
  } catch {
    return []
  }
}
