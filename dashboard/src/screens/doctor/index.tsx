import type { ScreenProps } from '../screen.ts'

/** The screen Doctor. */
export function DoctorScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
