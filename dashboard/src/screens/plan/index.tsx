import type { ScreenProps } from '../screen.ts'

/** The screen Plan. */
export function PlanScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
