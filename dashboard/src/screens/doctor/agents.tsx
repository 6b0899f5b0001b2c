import type { DoctorReport } from '../../../../src/views/model/wire/others.ts'
import { CopyButton } from '../../parts/copy-button.tsx'

/** Which agents this machine has, and whether they know the tools. */
export function Agents({ agents }: Pick<DoctorReport, 'agents'>) {
  return (
    <section class="card" aria-label="Agents">
      <h2>Agents</h2>
      {agents.length === 0 && <p class="dim">None is known.</p>}
      <table aria-label="Agents">
        <tbody>
          {agents.map(({ name, found, installed, command }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{found ? <span class="ok">✓ found</span> : <span class="dim">○ not found</span>}</td>
              <td>{installed ? <span class="ok">✓ knows the tools</span> : <span class={found ? 'warn' : 'dim'}>○ not installed</span>}</td>
              <td class="wide wrap">{command !== undefined && <><code>{command}</code><CopyButton label="Copy command" text={command} /></>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
