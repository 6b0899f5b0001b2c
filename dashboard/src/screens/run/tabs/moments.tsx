import { formatDuration } from '../../../../../src/views/model/format.ts'
import type { RunModel } from '../../../../../src/views/model/run-model.ts'

/** The moments of the timeline in words. */
export function Moments({ model }: { readonly model: RunModel }) {
  return (
    <section>
      <h2>Moments</h2>
      <div class="scroll-x">
        <table class="tight" aria-label="Moments">
          <thead>
            <tr>
              <th class="right">After</th>
              <th>What</th>
              <th>Step</th>
              <th class="wide">Said</th>
            </tr>
          </thead>
          <tbody>
            {model.marks.map(({ seq, at, type, text, step }) => (
              <tr key={seq}>
                <td class="right number">
                  {formatDuration(Math.max(0, at - model.created) / 1000)}
                </td>
                <td>
                  <code>{type}</code>
                </td>
                <td class="dim">{step ?? ''}</td>
                <td class="wide" title={text}>
                  {text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {model.more_marks > 0 && <p class="dim">{model.more_marks} more are only in the record.</p>}
    </section>
  )
}
