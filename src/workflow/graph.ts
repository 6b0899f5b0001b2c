/**
 * A workflow as a Mermaid flowchart.
 */

import { shorten } from '../util/text.ts'
import type { Workflow, WorkflowStep } from './definition/model.ts'
import { formatDuration } from './definition/reader.ts'

const MAX_LABEL_LENGTH = 80
// What Mermaid reads as markup in a label, also in quotes: entities, tags, markdown, directives.
const MERMAID_SPECIAL_CHARACTERS = /["#<>&`%{}[\]\\]/g

/** A workflow as a Mermaid flowchart: the same text for the same workflow. */
export function toMermaid(workflow: Workflow): string {
  const chart = new MermaidChart()
  const first = chart.node(workflow.name, '([', '])')
  const last = chart.list(workflow.steps, [first])
  const after = workflow.finally
    ? chart.group('finally', () => chart.list(workflow.finally!, []), last)
    : last
  const end = chart.node('done', '([', '])')
  chart.connect(after, end)
  return chart.text()
}

class MermaidChart {
  private readonly lines: string[] = ['flowchart TD']
  private count = 0
  private depth = 1

  /** A box; the ids are our own, because names may be words of Mermaid. */
  node(label: string, open: string, close: string): string {
    const id = this.id()
    this.write(`${id}${open}"${escapeLabel(label)}"${close}`)
    return id
  }

  connect(from: readonly string[], to: string, label?: string): void {
    for (const id of from)
      this.write(`${id} -->${label === undefined ? '' : `|"${escapeLabel(label)}"|`} ${to}`)
  }

  /** Steps in their order; gives what the next one follows. */
  list(steps: readonly WorkflowStep[], from: readonly string[]): readonly string[] {
    return steps.reduce<readonly string[]>((before, step) => this.step(step, before), from)
  }

  /** Boxes in a frame; the frame as a whole follows what is before. */
  group(
    label: string,
    draw: () => void,
    from: readonly string[],
    condition?: string,
  ): readonly string[] {
    const id = this.id()
    this.write(`subgraph ${id}["${escapeLabel(label)}"]`)
    this.depth += 1
    draw()
    this.depth -= 1
    this.write('end')
    this.connect(from, id, condition)
    return [id]
  }

  text(): string {
    return `${this.lines.join('\n')}\n`
  }

  private step(step: WorkflowStep, from: readonly string[]): readonly string[] {
    const condition = step.when === undefined ? undefined : `when ${step.when}`
    const here = this.shape(step, from, condition)
    if (step.compensate) this.undo(step.compensate, here[0]!)
    return here
  }

  private shape(
    step: WorkflowStep,
    from: readonly string[],
    condition: string | undefined,
  ): readonly string[] {
    const label = getStepLabel(step)
    const box = (open: string, close: string): readonly string[] => {
      const id = this.node(label, open, close)
      this.connect(from, id, condition)
      return [id]
    }
    switch (step.type) {
      case 'tool':
        return box('[', ']')
      case 'ai_decision':
        return box('{{', '}}')
      case 'wait':
        return box('([', '])')
      case 'parallel':
        return step.tasks.length === 0
          ? box('[', ']')
          : this.group(
              label,
              () => step.tasks.forEach((task) => this.list([task], [])),
              from,
              condition,
            )
      case 'each':
        return this.group(label, () => this.list(step.do, []), from, condition)
      case 'workflow':
        return this.group(
          label,
          () => this.list([...step.workflow.steps, ...(step.workflow.finally ?? [])], []),
          from,
          condition,
        )
    }
  }

  private undo(steps: readonly WorkflowStep[], from: string): void {
    let before = from
    for (const step of steps) {
      const [id] = this.shape(step, [], undefined)
      this.write(`${before} -.->|"undo"| ${id!}`)
      before = id!
    }
  }

  private id(): string {
    this.count += 1
    return `n${this.count}`
  }

  private write(line: string): void {
    this.lines.push('  '.repeat(this.depth) + line)
  }
}

function escapeLabel(label: string): string {
  const plain = shorten(
    label.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim(),
    MAX_LABEL_LENGTH,
  )
  return (
    plain.replace(MERMAID_SPECIAL_CHARACTERS, (character) => `#${character.charCodeAt(0)};`) || ' '
  )
}

/** A step in a few words, for a box. */
function getStepLabel(step: WorkflowStep): string {
  switch (step.type) {
    case 'tool':
      return `${step.name}: ${'command' in step ? step.command : step.tool}`
    case 'ai_decision':
      return `${step.name}: ${step.decision_type}?`
    case 'parallel':
      return `${step.name}: ${step.max_concurrency} at the same time`
    case 'each':
      return `${step.name}: each ${step.as}, ${step.max_concurrency} at the same time`
    case 'workflow':
      return `${step.name}: workflow ${step.workflow.name}`
    case 'wait':
      if ('answer' in step) return `${step.name}: ${step.answer.prompt}`
      return 'until' in step
        ? `${step.name}: until ${step.until}`
        : `${step.name}: wait ${typeof step.for === 'number' ? formatDuration(step.for) : step.for}`
  }
}
