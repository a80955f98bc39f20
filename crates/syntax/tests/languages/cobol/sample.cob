       IDENTIFICATION DIVISION.
       PROGRAM-ID. RELAY-TOTALS.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  EVENT-COUNT     PIC 9(8).
       01  EVENT-NAME      PIC X(20).
       PROCEDURE DIVISION.
      * Adds everything.
       MAIN-LINE.
           PERFORM READ-EVENTS.
           STOP RUN.
       READ-EVENTS.
           ADD 1 TO EVENT-COUNT.
           CALL "WRITELOG".
           EXIT.
