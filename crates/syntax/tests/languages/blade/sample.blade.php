@extends('layouts.app')

@section('title', 'Relay')

@section('content')
    <div id="events">
        @foreach ($events as $event)
            <x-event-row :event="$event" />
        @endforeach
        {{ formatTime($now) }}
    </div>
@endsection

{{-- What the page needs. --}}
@push('scripts')
    <script src="/app.js"></script>
@endpush
