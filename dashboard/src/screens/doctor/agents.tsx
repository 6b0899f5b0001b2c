import type { DoctorReport } from '../../../../src/views/model/api.ts'
import { Finding } from './finding.tsx'

/** Which agents this machine has, and whether they know the tools. */
export function Agents({ agents }: Pick<DoctorReport, 'agents'>) {
  return (
    <section class="card" aria-label="Agents">
      <h2>Agents</h2>
      <ul class="findings">
        {agents.map(({ name, found, installed, command }) => (
          <Finding
            key={name}
            look={
              installed
                ? ['ok', '✓', 'installed']
                : found
                  ? ['warn', '!', 'found']
                  : ['dim', '○', 'not here']
            }
            name={name}
            found={installed ? 'knows the tools' : found ? 'does not know the tools yet' : ''}
            fix={installed ? undefined : command}
          />
        ))}
      </ul>
    </section>
  )
}
