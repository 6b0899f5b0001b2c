import { shorten } from '../../contract/shorten.ts'
import type { Step, Workflow } from '../definition/workflow-type.ts'
import { labelOf } from './step-label.ts'

const LONGEST = 80
// What Mermaid reads as markup in a label, also in quotes: entities, tags, markdown, directives.
const SPECIAL = /["#<>&`%{}[\]\\]/g

/** A workflow as a Mermaid flowchart: the same text for the same workflow. */
export function mermaidOf(workflow: Workflow): string {
  const chart = new Chart()
  const first = chart.node(workflow.name, '([', '])')
  const last = chart.list(workflow.steps, [first])
  const after = workflow.finally
    ? chart.group('finally', () => chart.list(workflow.finally!, []), last)
    : last
  const end = chart.node('done', '([', '])')
  chart.connect(after, end)
  return chart.text()
}

class Chart {
  private readonly lines: string[] = ['flowchart TD']
  private count = 0
  private depth = 1

  /** A box; the ids are our own, because names may be words of Mermaid. */
  node(label: string, open: string, close: string): string {
    const id = this.id()
    this.write(`${id}${open}"${escape(label)}"${close}`)
    return id
  }

  connect(from: readonly string[], to: string, label?: string): void {
    for (const id of from)
      this.write(`${id} -->${label === undefined ? '' : `|"${escape(label)}"|`} ${to}`)
  }

  /** Steps in their order; gives what the next one follows. */
  list(steps: readonly Step[], from: readonly string[]): readonly string[] {
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
    this.write(`subgraph ${id}["${escape(label)}"]`)
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

  private step(step: Step, from: readonly string[]): readonly string[] {
    const condition = step.when === undefined ? undefined : `when ${step.when}`
    const here = this.shape(step, from, condition)
    if (step.compensate) this.undo(step.compensate, here[0]!)
    return here
  }

  private shape(
    step: Step,
    from: readonly string[],
    condition: string | undefined,
  ): readonly string[] {
    const label = labelOf(step)
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

  private undo(steps: readonly Step[], from: string): void {
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

function escape(label: string): string {
  const plain = shorten(
    label.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim(),
    LONGEST,
  )
  return plain.replace(SPECIAL, (character) => `#${character.charCodeAt(0)};`) || ' '
}
