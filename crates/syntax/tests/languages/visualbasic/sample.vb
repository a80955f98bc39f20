Imports System

' A queue of events.
Public Class Queue
    Private Const Limit As Integer = 64

    Public Enum Level
        Low
        High
    End Enum

    ''' <summary>Adds an event.</summary>
    Public Sub Push(item As String)
        If item <> "" Then
            Grow(item)
        End If
    End Sub

    Public Function Count() As Integer
        Return Measure(items)
    End Function
End Class
